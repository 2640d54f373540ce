-- Frequent words of other languages in Latin script, as a regular expression: those that are hardly English nor names
-- in code, or others, which may be. German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian,
-- Polish, Czech, Turkish, Indonesian.
create macro foreign_words(are_sure) as
if(
    are_sure,
    '\b(?:und|der|das|ist|nicht|eine?[mnrs]?|keine?[mnrs]?|auf|weil|wird|werden|wurde|habe|ich|für|dass|sich|durch|bei'
    || '|beim|zum|zur|les|une|dans|que|qui|pas|sur|avec|cette|parce|donc|sont|aux|aucune?|mais|leur'
    || '|las|porque|pero|muy|más|hay|esta|como|sus|también|cada|hacia|cuando|tiene'
    || '|gli|della|che|sono|perché|uma|não|foi|pelo|também'
    || '|het|niet|omdat|wordt|zijn|och|inte|ikke|jest|oraz|ponieważ|protože'
    || '|için|değil|yang|tidak|untuk|karena)\b',
    '\b(?:die|dem|den|ein|mit|von|zu|im|am|alle|nur|auch|dann|wenn|aber|statt|neue'
    || '|le|la|du|au|un|est|il|je|on|ce|plus|sans|par|pour|pire|meilleure?|faut|car'
    || '|el|una|al|por|para|con|sin|lo|peor|mejor|este'
    || '|di|non|nel|alla|um|em|mais|een|dat|det|att|som|og|nie|aby|ve|bir|ini|dan)\b'
)
